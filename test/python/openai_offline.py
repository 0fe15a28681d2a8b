"""The `openai` package against the offline model."""

import json

from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from openai import AuthenticationError, BadRequestError, OpenAI

client = OpenAI(api_key=API_KEY, base_url=BASE_URL)
chat = client.chat.completions

hello = [{"role": "user", "content": "Hello there"}]
whole = chat.create(model=MODEL, messages=hello)
text = whole.choices[0].message.content
ok("a whole answer", "Hello there" in text)
ok("its usage", whole.usage.total_tokens > 0)

streamed = ""
for chunk in chat.create(model=MODEL, messages=hello, stream=True):
    streamed += chunk.choices[0].delta.content or ""
ok("the textbook loop", streamed == text)

with chat.stream(model=MODEL, messages=hello) as events:
    final = events.get_final_completion()
ok(".stream()", final.choices[0].message.content == text)

tool = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
messages = [{"role": "user", "content": QUESTION}]
asked = chat.create(model=MODEL, messages=messages, tools=[tool]).choices[0]
call = asked.message.tool_calls[0]
ok("a tool is called", asked.finish_reason == "tool_calls")
ok("its arguments", json.loads(call.function.arguments) == {"city": "Paris"})
messages += [asked.message, {"role": "tool", "tool_call_id": call.id, "content": WEATHER}]
told = chat.create(model=MODEL, messages=messages, tools=[tool]).choices[0]
ok("the turn goes on with the result", WEATHER in told.message.content)

parsed = chat.parse(model=MODEL, messages=hello, response_format=Person)
ok(".parse()", isinstance(parsed.choices[0].message.parsed, Person))

ok("models are listed", MODEL in [model.id for model in client.models.list()])

try:
    chat.create(model=MODEL, messages=hello, n=2)
    raise AssertionError("n was not refused")
except BadRequestError as error:
    ok("a refusal has its code", error.code == "unsupported_parameter" and error.param == "n")

try:
    OpenAI(api_key="svc_live_none", base_url=BASE_URL).models.list()
    raise AssertionError("the key was not refused")
except AuthenticationError as error:
    ok("a wrong key", error.code == "invalid_api_key")
