"""`openai-agents` as it is by default, with responses: tools, streams, a structured answer, a handoff."""

import asyncio

from agents import (
    Agent,
    Runner,
    SQLiteSession,
    function_tool,
    set_default_openai_client,
    set_tracing_disabled,
)
from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from openai import AsyncOpenAI

set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(api_key=API_KEY, base_url=BASE_URL))
cities = []


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    cities.append(city)
    return WEATHER


async def main() -> None:
    agent = Agent(name="Weather", instructions="Be brief.", model=MODEL, tools=[get_weather])
    result = await Runner.run(agent, QUESTION)
    ok("the loop ends with an answer", WEATHER in result.final_output)

    streamed = Runner.run_streamed(agent, QUESTION)
    async for _ in streamed.stream_events():
        pass
    ok("streamed too", WEATHER in streamed.final_output)

    result = await Runner.run(agent, QUESTION, auto_previous_response_id=True)
    ok("with the response before", WEATHER in result.final_output)
    ok("each loop called the tool once", cities == ["Paris"] * 3)

    typed = Agent(name="Typed", model=MODEL, output_type=Person)
    answer = (await Runner.run(typed, "Who is there?")).final_output
    ok("a structured answer", isinstance(answer, Person))

    plain = Agent(name="Plain", model=MODEL)
    session = SQLiteSession("a")
    await Runner.run(plain, "Hello", session=session)
    result = await Runner.run(plain, "And now?", session=session)
    ok("a session of the package", "And now?" in result.final_output)

    other = Agent(name="Spanish", handoff_description="Speaks Spanish", model=MODEL)
    triage = Agent(name="Triage", model=MODEL, handoffs=[other])
    result = await Runner.run(triage, "transfer_to_spanish")
    ok("a handoff among the client's agents", result.last_agent.name == "Spanish")


asyncio.run(main())
