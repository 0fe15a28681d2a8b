"""The `openai` package's responses against the offline model."""

import time

from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from openai import BadRequestError, NotFoundError, OpenAI

responses = OpenAI(api_key=API_KEY, base_url=BASE_URL).responses

first = responses.create(model=MODEL, input="Hello there")
ok("a whole answer", "Hello there" in first.output_text and first.usage.total_tokens > 0)

with responses.stream(model=MODEL, input="And now?", previous_response_id=first.id) as events:
    numbers = [event.sequence_number for event in events]
    final = events.get_final_response()
ok("a stream goes on from it", "And now?" in final.output_text)
ok("events are numbered", numbers == list(range(len(numbers))))

parsed = responses.parse(model=MODEL, input="Who is there?", text_format=Person)
ok(".parse()", isinstance(parsed.output_parsed, Person))

tool = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
asked = responses.create(model=MODEL, input=QUESTION, tools=[tool])
call = asked.output[0]
ok("a tool is called", call.type == "function_call" and call.arguments == '{"city":"Paris"}')
output = {"type": "function_call_output", "call_id": call.call_id, "output": WEATHER}
told = responses.create(
    model=MODEL, input=[output], previous_response_id=asked.id, tools=[tool]
)
ok("the turn goes on with the output", WEATHER in told.output_text)

begun = responses.create(model=MODEL, input="Hello", background=True)
ends = time.monotonic() + 60
while begun.status in ("queued", "in_progress") and time.monotonic() < ends:
    begun = responses.retrieve(begun.id)
ok("in the background", begun.status == "completed" and "Hello" in begun.output_text)
ok("what it was asked", responses.input_items.list(begun.id).data[0].content[0].text == "Hello")

try:
    responses.create(model=MODEL, input="Hello", tools=[{"type": "web_search"}])
    raise AssertionError("a tool of OpenAI was not refused")
except BadRequestError as error:
    ok("a refusal has its code", error.code == "unsupported_parameter")

try:
    responses.retrieve("resp_none")
    raise AssertionError("an unknown response was found")
except NotFoundError as error:
    ok("an unknown response", error.code == "response_not_found")
