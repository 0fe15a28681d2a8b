"""`litellm`: chat, a stream, a tool and an error."""

import json

import litellm
from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, ok

at = {"model": f"openai/{MODEL}", "api_base": BASE_URL, "api_key": API_KEY}
hello = [{"role": "user", "content": "Hello there"}]
text = litellm.completion(messages=hello, **at).choices[0].message.content
ok("a whole answer", "Hello there" in text)
chunks = litellm.completion(messages=hello, stream=True, **at)
ok("a stream", "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == text)

tool = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
messages = [{"role": "user", "content": QUESTION}]
asked = litellm.completion(messages=messages, tools=[tool], **at).choices[0].message
call = asked.tool_calls[0]
ok("a tool is called", json.loads(call.function.arguments) == {"city": "Paris"})
messages += [asked, {"role": "tool", "tool_call_id": call.id, "content": WEATHER}]
told = litellm.completion(messages=messages, tools=[tool], **at).choices[0].message
ok("the turn goes on with the result", WEATHER in told.content)

try:
    litellm.completion(messages=hello, **{**at, "api_key": "svc_live_none"})
    raise AssertionError("the key was not refused")
except litellm.AuthenticationError:
    ok("a wrong key", True)
