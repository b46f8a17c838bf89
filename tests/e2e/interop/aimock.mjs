// A server that is not ours (aimock) plays the look-up chain by reading the prompt, as a model would,
// and damages some sessions. Prints its URL; appends {canary, kind} of each session to the file
// that is its argument.
import { appendFileSync } from "node:fs";
import { LLMock } from "@copilotkit/aimock";

const ledger = process.argv[2];
const kinds = ["right", "markup", "right", "altered", "right", "http500", "right", "cut", "right", "prose"];
const known = new Map();

const text = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text).join("");

function session(request) {
  const prompt = request.messages.map(text).join("\n");
  const canary = prompt.match(/archive mark of this day file is (\S+);/)[1];
  if (!known.has(canary)) {
    const kind = kinds[known.size % kinds.length];
    known.set(canary, kind);
    appendFileSync(ledger, JSON.stringify({ canary, kind }) + "\n");
  }
  return { kind: known.get(canary), prompt };
}

function right(request) {
  const { prompt } = session(request);
  const pass_key = prompt.match(/the pass key is (\S+)/)[1];
  const last = request.messages.at(-1);
  const call = (berth_key) => ({ toolCalls: [{ name: "fetch_berth_ledger", arguments: { berth_key, pass_key } }] });
  if (last.role !== "tool") return call(prompt.match(/first berth key is (\S+)/)[1]);
  const result = JSON.parse(text(last));
  return result.next_berth_key === "none" ? { content: result.seal } : call(result.next_berth_key);
}

function altered(request) {
  const reply = right(request);
  if (!reply.toolCalls) return reply;
  const key = reply.toolCalls[0].arguments.berth_key;
  reply.toolCalls[0].arguments.berth_key = key.slice(0, -1) + (key.endsWith("7") ? "8" : "7");
  return reply;
}

const play = {
  right,
  altered,
  cut: right,
  markup: (request) => {
    const call = right(request).toolCalls?.[0];
    return call ? { content: `<tool_call>\n${JSON.stringify(call)}\n</tool_call>` } : right(request);
  },
  http500: () => ({ error: { message: "the worker died", type: "server_error" }, status: 500 }),
  prose: () => ({ content: "I will look into the ledger for you." }),
};

const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
for (const kind of new Set(kinds))
  mock.addFixture({
    match: { predicate: (request) => session(request).kind === kind },
    response: (request) => {
      const reply = play[kind](request);
      if (reply.toolCalls)
        reply.toolCalls = reply.toolCalls.map((c) => ({ ...c, arguments: JSON.stringify(c.arguments) }));
      return reply;
    },
    ...(kind === "cut" ? { truncateAfterChunks: 2, latency: 20 } : {}),
  });
await mock.start();
console.log(`${mock.url}/v1`);
