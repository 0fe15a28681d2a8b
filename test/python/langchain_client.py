"""`langchain-openai`: chat, a stream, a tool and structured answers."""

from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

chat = ChatOpenAI(model=MODEL, api_key=API_KEY, base_url=BASE_URL)
text = chat.invoke("Hello there").content
ok("a whole answer", "Hello there" in text)
ok("a stream", "".join(chunk.content for chunk in chat.stream("Hello there")) == text)


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: {WEATHER}"


with_tools = chat.bind_tools([get_weather])
messages = [HumanMessage(QUESTION)]
asked = with_tools.invoke(messages)
ok("a tool is called", [call["args"] for call in asked.tool_calls] == [{"city": "Paris"}])
messages += [asked, *(get_weather.invoke(call) for call in asked.tool_calls)]
ok("the turn goes on with the result", f"Paris: {WEATHER}" in with_tools.invoke(messages).content)

for method in ("json_schema", "function_calling"):
    typed = chat.with_structured_output(Person, method=method)
    ok(f"a structured answer by {method}", isinstance(typed.invoke("Who is there?"), Person))
