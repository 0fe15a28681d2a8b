"""The tool loops of each package over a scripted provider: a call, then the answer."""

import asyncio
import json

import instructor
import litellm
from agents import Agent as OpenAIAgent
from agents import OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

set_tracing_disabled(True)
cities = []


def get_weather(city: str) -> str:
    """The weather in a city."""
    cities.append(city)
    return WEATHER


def called_once() -> bool:
    """Whether the tool was called since this was last asked, and only once."""
    seen = cities == ["Paris"]
    cities.clear()
    return seen


async def openai_agents() -> str:
    client = AsyncOpenAI(api_key=API_KEY, base_url=BASE_URL)
    model = OpenAIChatCompletionsModel(model=MODEL, openai_client=client)
    agent = OpenAIAgent(name="Weather", model=model, tools=[function_tool(get_weather)])
    streamed = Runner.run_streamed(agent, QUESTION)
    async for _ in streamed.stream_events():
        pass
    return streamed.final_output


ok("openai-agents", WEATHER in asyncio.run(openai_agents()) and called_once())

provider = OpenAIProvider(base_url=BASE_URL, api_key=API_KEY)
agent = Agent(OpenAIChatModel(MODEL, provider=provider))
agent.tool_plain(get_weather)
ok("pydantic-ai", WEATHER in agent.run_sync(QUESTION).output and called_once())

tool = langchain_tool(get_weather)
chat = ChatOpenAI(model=MODEL, api_key=API_KEY, base_url=BASE_URL).bind_tools([tool])
messages = [HumanMessage(QUESTION)]
asked = chat.invoke(messages)
messages += [asked, *(tool.invoke(call) for call in asked.tool_calls)]
ok("langchain-openai", WEATHER in chat.invoke(messages).content and called_once())

at = {
    "model": f"openai/{MODEL}",
    "api_base": BASE_URL,
    "api_key": API_KEY,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ],
}
messages = [{"role": "user", "content": QUESTION}]
asked = litellm.completion(messages=messages, **at).choices[0].message
call = asked.tool_calls[0]
result = get_weather(**json.loads(call.function.arguments))
messages += [asked, {"role": "tool", "tool_call_id": call.id, "content": result}]
told = litellm.completion(messages=messages, **at).choices[0].message
ok("litellm", WEATHER in told.content and called_once())

person = instructor.from_openai(OpenAI(api_key=API_KEY, base_url=BASE_URL)).chat.completions.create(
    model=MODEL,
    response_model=Person,
    max_retries=1,
    messages=[{"role": "user", "content": "Who is there?"}],
)
known = person.model_dump() == {"name": "Ada", "age": 36}
ok("instructor, asking again for what did not fit", known)
