using System.Text;
using OpenAI.Chat;

var client = new ChatClient(At.Model, At.Credential, At.Options);
var tool = ChatTool.CreateFunctionTool("lookup", "Looks something up");

await At.Run(args, async name =>
{
    var question = new UserChatMessage("What do you know of tea and of coffee?");
    if (name == "whole")
        return (await client.CompleteChatAsync(question)).Value.Content[0].Text;
    if (name == "tools")
    {
        var options = new ChatCompletionOptions();
        options.Tools.Add(tool);
        var answer = (await client.CompleteChatAsync([question], options)).Value;
        return $"{answer.FinishReason}: {answer.Content[0].Text}";
    }
    var said = new StringBuilder();
    await foreach (var update in client.CompleteChatStreamingAsync(question))
        foreach (var part in update.ContentUpdate)
            said.Append(part.Text);
    return said.ToString();
});
