// Gives opencode the memory of one vault: what is always to be known goes into the system prompt; what fits a prompt
// goes along with it, as a part that is not shown, and what fits the last prompts to whoever sums a session up; a
// session that has paused is noted, so that it can be searched later.
import { spawn } from "node:child_process"

const COMMAND = {{command}}
const WAIT_MS = {{wait}}
const MOST_SESSIONS = 100
const MOST_SAID = 12

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

function read(said, name) {
  try {
    const found = JSON.parse(said)[name]
    return typeof found === "string" ? found : ""
  } catch {
    return ""
  }
}

const isOurs = (part) => part?.type === "text" && part.synthetic && part.text?.startsWith("<vault-memory")

export const VaultMemory = async ({ client, directory }) => {
  const known = new Map() // session -> a promise of what is always to be known in it
  const typed = new Map() // session -> what was typed in it last
  const stored = new Set() // sessions whose agent has stored something
  const answers = new Map() // session -> what memory's tools have answered in it since it was last asked
  let asides // a promise of how the system prompts begin that opencode uses for titles, summaries and the like

  const ask = async (event, session, more) =>
    read(await hook(event, { session_id: session, cwd: directory, ...more }), "context")

  const spoken = (session) => ({ said: typed.get(session) ?? [], stored: stored.has(session) })

  // Once a session, where `capture.remind` is on: the agent goes on for one more turn. The next pause says that it has.
  const paused = async (session) => {
    const text = read(await hook("session.idle", { session_id: session, cwd: directory, ...spoken(session) }), "remind")
    if (!text) return
    stored.add(session)
    await client.session.prompt({ path: { id: session }, body: { parts: [{ type: "text", text, synthetic: true }] } })
  }

  const started = (session, event = "session.resumed") => {
    if (!known.has(session)) {
      known.set(session, ask(event, session))
      if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value)
    }
    return known.get(session)
  }

  const findAsides = async () => {
    try {
      const { data } = await client.app.agents()
      return data.filter((agent) => agent.native && agent.hidden && agent.prompt).map((agent) => agent.prompt)
    } catch {
      return []
    }
  }

  return {
    event: async ({ event }) => {
      const about = event?.properties ?? {}
      const session = about.sessionID ?? about.info?.id
      if (typeof session !== "string") return
      if (event.type === "session.created") started(session, event.type)
      if (event.type === "session.idle") await paused(session)
      if (event.type === "session.deleted") {
        known.delete(session)
        typed.delete(session)
        stored.delete(session)
        answers.delete(session)
        await ask("session.deleted", session)
      }
    },
    "chat.message": async (input, output) => {
      const session = input?.sessionID
      const parts = Array.isArray(output?.parts) ? output.parts : []
      const own = parts.filter((part) => part?.type === "text" && !part.synthetic && !part.ignored)
      const last = own.at(-1)
      if (typeof session !== "string" || typeof last?.id !== "string") return
      typed.set(session, [...(typed.get(session) ?? []), ...own.map((part) => part.text)].slice(-MOST_SAID))
      if (typed.size > MOST_SESSIONS) typed.delete(typed.keys().next().value)
      await started(session) // what stands in the system prompt is not told again
      const more = { prompt: own.map((part) => part.text).join("\n"), answers: answers.get(session) ?? [] }
      answers.delete(session)
      const text = await ask("chat.message", session, more)
      // Parts are read in the order of their ids: this one comes behind what was typed. It is ignored but in requests
      // of the conversation itself: the model that makes a title may be another company's.
      const about = { id: `${last.id}m`, sessionID: session, messageID: last.messageID }
      if (text) parts.push({ ...about, type: "text", text, synthetic: true, ignored: true })
    },
    "tool.execute.after": async (input, output) => {
      if (String(input?.tool).endsWith("memory_store")) stored.add(input.sessionID)
      // A tool of an MCP server comes with what that answered, one of opencode's own with its text.
      const texts = Array.isArray(output?.content) ? output.content.map((part) => part?.text) : [output?.output]
      const ours = texts.filter((text) => typeof text === "string" && text.includes("<vault-memory"))
      if (ours.length) answers.set(input.sessionID, [...(answers.get(input.sessionID) ?? []), ...ours])
    },
    "experimental.chat.messages.transform": async (input, output) => {
      // Copies: the request for a title is made from the same objects at the same time.
      output.messages.forEach(({ info, parts }, n) => {
        if (!parts.some(isOurs)) return
        output.messages[n] = { info, parts: parts.map((part) => (isOurs(part) ? { ...part, ignored: false } : part)) }
      })
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (!known.has(input?.sessionID)) return // a request of no conversation
      const [text, prompts] = await Promise.all([started(input.sessionID), (asides ??= findAsides())])
      if (!text || prompts.some((prompt) => output.system[0]?.startsWith(prompt))) return
      // Appended, for many local models refuse a second system message.
      output.system.push([output.system.pop(), text].filter(Boolean).join("\n\n"))
    },
    "experimental.session.compacting": async (input, output) => {
      const text = input?.sessionID ? await ask("session.compacting", input.sessionID, spoken(input.sessionID)) : ""
      if (text) output.context.push(text)
    },
  }
}
