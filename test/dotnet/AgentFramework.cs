using System.Text;
using Microsoft.Agents.AI;
using Microsoft.Extensions.AI;

const string question = "What do you know of tea and of coffee?";
var client = new OpenAI.Chat.ChatClient(At.Model, At.Credential, At.Options).AsIChatClient();
var agent = new ChatClientAgent(client);
var tool = AIFunctionFactory.Create(() => "18 degrees", "lookup");
var helped = new ChatClientAgent(client, tools: [tool]);

await At.Run(args, async name =>
{
    if (name == "whole")
        return (await agent.RunAsync(question)).Text;
    if (name == "tools")
        return $"stop: {(await helped.RunAsync(question)).Text}";
    var said = new StringBuilder();
    await foreach (var update in agent.RunStreamingAsync(question))
        said.Append(update.Text);
    return said.ToString();
});
