type Message = { event_type: string; created_at: string }

/**
 * The messages of a conversation by turns. A turn begins with a message of the user, or with the
 * first result of the client's own tools after an answer.
 */
export const turnsOf = <T extends Message>(messages: readonly T[]): T[][] => {
  const turns: T[][] = []
  let former: T | undefined
  for (const message of messages) {
    const isContinued =
      message.event_type === 'tool_message' && former?.event_type === 'assistant_message'
    const current = turns.at(-1)
    if (!current || message.event_type === 'user_message' || isContinued) turns.push([message])
    else current.push(message)
    former = message
  }
  return turns
}
