// A second client that is not ours, the AI SDK, against the simulated endpoint: its argument is the
// base URL. The SDK checks the arguments itself: a call that does not fit the schema becomes an error.
import assert from "node:assert/strict";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const baseURL = process.argv[2];
const provider = createOpenAICompatible({ name: "sim", baseURL, includeUsage: true });
const { data } = await (await fetch(`${baseURL}/models`)).json();
const model = provider(data[0].id);

const fits = (args) =>
  typeof args.station === "string" &&
  Number.isInteger(args.hours) &&
  ["m", "ft"].includes(args.unit) &&
  Object.keys(args).length === 3;

const seen = [];
const fetch_tide = tool({
  description: "Reads a tide table.",
  inputSchema: jsonSchema(
    {
      type: "object",
      properties: {
        station: { type: "string" },
        hours: { type: "integer" },
        unit: { type: "string", enum: ["m", "ft"] },
      },
      required: ["station", "hours", "unit"],
      additionalProperties: false,
    },
    {
      validate: (args) =>
        fits(args) ? { success: true, value: args } : { success: false, error: new Error(JSON.stringify(args)) },
    },
  ),
  execute: (args) => {
    seen.push(args);
    return { tide: "rising" };
  },
});
const ask = {
  model,
  prompt: "What does the tide do?",
  tools: { fetch_tide },
  stopWhen: stepCountIs(4),
  maxRetries: 0,
};

// What both forms must come to: a call, its result sent back, and a text that ends the loop by itself.
function check({ steps, text, finishReason, totalUsage }) {
  assert.deepEqual(steps.map((step) => step.finishReason), ["tool-calls", "stop"]);
  const [call] = steps[0].toolCalls;
  assert.equal(steps[0].toolCalls.length, 1);
  assert.equal(call.toolName, "fetch_tide");
  assert.ok(!call.invalid && fits(call.input), JSON.stringify(call));
  assert.deepEqual(seen.splice(0), [call.input]);
  assert.equal(steps[0].toolResults[0].toolCallId, call.toolCallId);
  assert.deepEqual(steps[0].toolResults[0].output, { tide: "rising" });
  assert.equal(steps[1].toolCalls.length, 0);
  assert.ok(text.length > 0);
  assert.equal(text, steps[1].text);
  assert.equal(finishReason, "stop");
  assert.ok(totalUsage.inputTokens > 0 && totalUsage.outputTokens > 0);
}

check(await generateText(ask));

const stream = streamText(ask);
const parts = [];
for await (const part of stream.fullStream) parts.push(part);
assert.deepEqual(parts.filter((part) => /error/.test(part.type)), []);
const joined = (type, pick) => parts.filter((part) => part.type === type).map(pick).join("");
check({
  steps: await stream.steps,
  text: await stream.text,
  finishReason: await stream.finishReason,
  totalUsage: await stream.totalUsage,
});
assert.equal(joined("text-delta", (part) => part.text), await stream.text);
assert.deepEqual(
  JSON.parse(joined("tool-input-delta", (part) => part.delta)),
  (await stream.steps)[0].toolCalls[0].input,
);

const unknown = { ...ask, model: provider("no-such-model") };
const refused = (e) => APICallError.isInstance(e) && e.statusCode === 404 && /no-such-model/.test(e.message);
await assert.rejects(generateText(unknown), refused);
const errors = [];
await streamText({ ...unknown, onError: ({ error }) => errors.push(error) }).consumeStream();
assert.equal(errors.length, 1);
assert.ok(refused(errors[0]), String(errors[0]));
console.log("ok");
