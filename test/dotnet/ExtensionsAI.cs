using System.Text;
using Microsoft.Extensions.AI;

const string question = "What do you know of tea and of coffee?";
IChatClient client = new OpenAI.Chat.ChatClient(At.Model, At.Credential, At.Options)
    .AsIChatClient()
    .AsBuilder()
    .UseFunctionInvocation()
    .Build();
var tool = AIFunctionFactory.Create(() => "18 degrees", "lookup");

await At.Run(args, async name =>
{
    if (name == "whole")
        return (await client.GetResponseAsync(question)).Text;
    if (name == "tools")
    {
        var answer = await client.GetResponseAsync(question, new ChatOptions { Tools = [tool] });
        return $"{answer.FinishReason}: {answer.Text}";
    }
    var said = new StringBuilder();
    await foreach (var update in client.GetStreamingResponseAsync(question))
        said.Append(update.Text);
    return said.ToString();
});
