"""`instructor`: structured answers in the modes that it has for OpenAI."""

import instructor
from common import API_KEY, BASE_URL, MODEL, Person, ok
from openai import OpenAI

client = OpenAI(api_key=API_KEY, base_url=BASE_URL)
ask = {
    "model": MODEL,
    "response_model": Person,
    "messages": [{"role": "user", "content": "Who is there?"}],
}
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    patched = instructor.from_openai(client, mode=mode)
    ok(f"mode {mode.value}", isinstance(patched.chat.completions.create(**ask), Person))
    *_, last = patched.chat.completions.create_partial(**ask)
    ok(f"mode {mode.value}, as it comes", last.name is not None and last.age is not None)
