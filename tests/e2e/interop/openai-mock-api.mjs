// A second server that is not ours (openai-mock-api) gives prepared replies to the scenario
// tests/data/scenario-gauges.json, some of them damaged; a mark's first character says which.
// Its own ways are not set up here: no index in streamed calls, each call in one chunk, finish
// reason "stop" behind calls, no content beside them, and text/plain as the type of a stream.
// Prints its URL.
import { createServer } from "node:http";
import { MockServer } from "openai-mock-api";

const call = (id, gauge, hours) => ({
  id,
  type: "function",
  function: { name: "read_gauge", arguments: JSON.stringify({ gauge, hours }) },
});
const calls = [call("call_north", "north", 6), call("call_south", "south", 12)];
const answer = { role: "assistant", content: "347 cm" };
const markup = calls.map((c) => `<tool_call>\n${JSON.stringify(c.function)}\n</tool_call>`).join("\n");

const first = {
  "[0-9]": { tool_calls: calls },
  "[A-D]": { tool_calls: calls.map((c, index) => ({ ...c, index })) },
  "[E-H]": { tool_calls: [calls[0], call("call_south", "south", 21)] },
  "[J-N]": { content: markup },
  "[P-S]": { content: "I will have a look at both gauges for you." },
};
// A request that no reply was prepared for is answered with 400: that is what other marks get.
const responses = Object.entries(first).flatMap(([marks, reply]) => {
  const opening = [
    { role: "user", matcher: "regex", content: `Mark ${marks}` },
    { role: "assistant", ...reply },
  ];
  const results = [
    { role: "tool", matcher: "contains", tool_call_id: "call_north", content: "311 cm" },
    { role: "tool", matcher: "contains", tool_call_id: "call_south", content: "347 cm" },
  ];
  return [
    { id: `${marks} calls`, messages: opening },
    { id: `${marks} answer`, messages: [...opening, ...results, answer] },
  ];
});

const quiet = () => {};
const mock = new MockServer(
  { apiKey: "interop", responses },
  { info: quiet, debug: quiet, warn: quiet, error: console.error },
);
const server = createServer(mock.app);
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
