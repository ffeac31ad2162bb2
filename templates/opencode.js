// Gives opencode the memory of one vault: what is always to be known goes into the system prompt, and again into the
// summary when a session is compacted; a session that has paused is noted, so that it can be searched later.
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

  const ask = async (event, session) => context(await hook(event, { session_id: session, cwd: directory }))

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
