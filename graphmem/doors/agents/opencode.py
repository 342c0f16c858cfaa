"""The plugin of OpenCode: it has no hooks that run programs, so a few lines of JavaScript hand its events on."""

SHIM = """\
// Written by `graphmem install opencode`; removed by `graphmem uninstall opencode`.
// It hands OpenCode's events to graphmem's hook, and puts what comes back into the conversation.
import { spawn } from "node:child_process"

const COMMAND = ["graphmem", "hook", "opencode"]
const LIMIT_MS = 2000

const ask = (event, cwd) =>
  new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd, stdio: ["pipe", "pipe", "ignore"] })
    const parts = []
    const end = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(Buffer.concat(parts).toString("utf8")).context || "")
      } catch {
        resolve("")
      }
    }
    const timer = setTimeout(() => child.kill(), LIMIT_MS)
    child.stdout.on("data", (part) => parts.push(part))
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })

export const Graphmem = async ({ directory }) => {
  const briefings = new Map()
  const brief = async (sessionID, source) => {
    briefings.set(sessionID, await ask({ hook_event_name: "SessionStart", session_id: sessionID, source }, directory))
  }
  return {
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!briefings.has(sessionID)) await brief(sessionID, "startup")
      const text = briefings.get(sessionID) // the same text each time: the client's cache of the prompt holds
      if (text) output.system.push(text)
    },
    "chat.message": async ({ sessionID }, output) => {
      const prompt = output.parts.filter((part) => part.type === "text").map((part) => part.text).join("\\n")
      const text = await ask({ hook_event_name: "UserPromptSubmit", session_id: sessionID, prompt }, directory)
      const part = output.parts.find((one) => one.type === "text")
      if (text && part) part.text = `${part.text}\\n\\n${text}`
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      const event = {
        hook_event_name: "PostToolUse",
        session_id: sessionID,
        tool_name: tool,
        tool_input: args ?? {},
        tool_response: { output: output.output, exit_code: output.metadata?.exit },
      }
      const text = await ask(event, directory)
      if (text) output.output = `${output.output}\\n\\n${text}`
    },
    "experimental.session.compacting": async ({ sessionID }) => brief(sessionID, "compact"),
  }
}
"""
