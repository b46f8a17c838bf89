// The official OpenAI client against the simulated endpoint: its argument is the base URL.
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "unused", maxRetries: 0 });
const tools = [
  {
    type: "function",
    function: {
      name: "fetch_tide",
      description: "Reads a tide table.",
      parameters: {
        type: "object",
        properties: {
          station: { type: "string" },
          hours: { type: "integer" },
          unit: { type: "string", enum: ["m", "ft"] },
        },
        required: ["station", "hours", "unit"],
        additionalProperties: false,
      },
    },
  },
];
const ask = { role: "user", content: "What does the tide do?" };

const models = await client.models.list();
assert.equal(models.data.length, 1);
const model = models.data[0].id;

function checkArguments(json) {
  const args = JSON.parse(json);
  assert.equal(typeof args.station, "string");
  assert.ok(Number.isInteger(args.hours));
  assert.ok(["m", "ft"].includes(args.unit));
  assert.equal(Object.keys(args).length, 3);
}

const plain = await client.chat.completions.create({ model, messages: [ask] });
assert.equal(plain.choices[0].finish_reason, "stop");
assert.ok(plain.choices[0].message.content.length > 0);
assert.ok(plain.usage.prompt_tokens > 0 && plain.usage.completion_tokens > 0);

const called = await client.chat.completions.create({ model, messages: [ask], tools });
const message = called.choices[0].message;
assert.equal(called.choices[0].finish_reason, "tool_calls");
assert.equal(message.tool_calls[0].function.name, "fetch_tide");
checkArguments(message.tool_calls[0].function.arguments);

const answered = await client.chat.completions.create({
  model,
  messages: [ask, message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "rising" }],
  tools,
});
assert.ok(answered.choices[0].message.content.length > 0);
assert.equal(answered.choices[0].message.tool_calls ?? undefined, undefined);

const stream = client.chat.completions.stream({
  model,
  messages: [ask],
  tools,
  stream_options: { include_usage: true },
});
const streamed = await stream.finalChatCompletion();
assert.equal(streamed.choices[0].finish_reason, "tool_calls");
checkArguments(streamed.choices[0].message.tool_calls[0].function.arguments);
assert.ok(streamed.usage.total_tokens > 0);

const none = await client.chat.completions.create({ model, messages: [ask], tools, tool_choice: "none" });
assert.ok(none.choices[0].message.content.length > 0);

await assert.rejects(
  client.chat.completions.create({ model: "no-such-model", messages: [ask] }),
  (e) => e.status === 404 && /no-such-model/.test(e.message),
);
await assert.rejects(
  client.post("/chat/completions", { body: { model, messages: "not a list" } }),
  (e) => e.status === 400,
);
await assert.rejects(client.post("/nowhere", { body: {} }), (e) => e.status === 404);
console.log("ok");
