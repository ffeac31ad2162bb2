// Gives opencode the memory of one vault: what is always to be known goes into the system prompt, and again into the
// summary when a session is compacted; what fits a prompt goes along with it, as a part that is not shown; a session
// that has paused is noted, so that it can be searched later.
import { spawn } from "node:child_process"

const COMMAND = {{command}}
const WAIT_MS = {{wait}}
const MOST_SESSIONS = 100

// What the command prints, or "" when anything goes wrong: a memory must never be in the way.
function hook(event, input) {
  return new Promise((resolve) => {
    let said = ""
    let child
    try {
      child = spawn(COMMAND[0], [...COMMAND.slice(1), event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    } catch {
      return resolve("")
    }
    const timer = setTimeout(() => child.kill(), WAIT_MS)
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => (said += part))
    child.on("close", () => {
      clearTimeout(timer)
      resolve(said)
    })
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...input }))
  })
}

function context(said) {
  try {
    const found = JSON.parse(said).context
    return typeof found === "string" ? found : ""
  } catch {
    return ""
  }
}

export const VaultMemory = async ({ directory }) => {
  const known = new Map() // session -> a promise of what is always to be known in it

  const ask = async (event, session, more) =>
    context(await hook(event, { session_id: session, cwd: directory, ...more }))

  const started = (session) => {
    if (!known.has(session)) {
      known.set(session, ask("session.created", session))
      if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value)
    }
    return known.get(session)
  }

  return {
    event: async ({ event }) => {
      const about = event?.properties ?? {}
      const session = about.sessionID ?? about.info?.id
      if (typeof session !== "string") return
      if (event.type === "session.created") started(session)
      if (event.type === "session.idle") await ask("session.idle", session)
      if (event.type === "session.deleted") {
        known.delete(session)
        await ask("session.deleted", session)
      }
    },
    "chat.message": async (input, output) => {
      const session = input?.sessionID
      const parts = Array.isArray(output?.parts) ? output.parts : []
      const own = parts.filter((part) => part?.type === "text" && !part.synthetic && !part.ignored)
      const last = own.at(-1)
      if (typeof session !== "string" || typeof last?.id !== "string") return
      await started(session) // what stands in the system prompt is not told again
      const text = await ask("chat.message", session, { prompt: own.map((part) => part.text).join("\n") })
      // Parts are read in the order of their ids: this one comes behind what was typed.
      const about = { id: `${last.id}m`, sessionID: session, messageID: last.messageID }
      if (text) parts.push({ ...about, type: "text", text, synthetic: true })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = input?.sessionID ? await started(input.sessionID) : ""
      if (text) output.system.push(text)
    },
    "experimental.session.compacting": async (input, output) => {
      const text = input?.sessionID ? await ask("session.compacting", input.sessionID) : ""
      if (text) output.context.push(text)
    },
  }
}
