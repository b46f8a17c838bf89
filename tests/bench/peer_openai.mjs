// A peer of the speed measurements: the official client on Node. MODULE URL CLIENTS REQUESTS
const { default: OpenAI } = await import(process.argv[2]);
const api = new OpenAI({ baseURL: process.argv[3], apiKey: "unused", maxRetries: 0 });
const messages = [{ role: "user", content: "go" }];
const total = Number(process.argv[5]);
let started = 0;

async function client() {
  while (started < total) {
    started++;
    let text = "";
    let finish = null;
    const stream = await api.chat.completions.create({ model: "bench", stream: true, messages });
    for await (const event of stream) {
      for (const choice of event.choices) {
        text += choice.delta.content ?? "";
        finish = choice.finish_reason ?? finish;
      }
    }
    if (!finish || !text) throw new Error("an answer was not whole");
  }
}

await Promise.all(Array.from({ length: Number(process.argv[4]) }, client));
