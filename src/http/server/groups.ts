/** What comes first in the OpenAPI document, in Markdown. */
export const introduction = `Each organization has an orchestrator that answers its users, or hands them to agents with tools,
knowledge and memory. Everything that happens is recorded as an event.

**To try a request here:** press *Authorize* and enter the key that the first start printed, under
\`apiKey\`. Then open a request and press *Execute*. The examples name what the demo organization has.

**From your code:** chat has the shape of OpenAI's chat completions, responses that of its Responses
API. Give an OpenAI SDK this server's address with \`/api/external/v1\` as its base URL, and the key
as its API key.

Every refusal has a code, in the header \`X-Error-Code\`. Times are UTC, ids are UUIDs.`

/** The groups of requests in the order in which they are shown, with their descriptions. */
export const groups: Readonly<Record<string, string>> = {
  chat: 'Send messages to the orchestrator, whole or streamed',
  responses:
    'The same turns in the shape of OpenAI’s Responses API: also in the background, read and cancelled by id',
  agents: 'Ask one agent directly',
  sessions: 'Read conversations back, follow or cancel a turn',
  knowledge: 'Upload documents, and search them',
  content: 'Images, videos, sounds and 3D models that agents generated',
  me: "The calling user's own credentials, memberships and keys",
  management: 'Act for your users: accounts, their credentials, links where they connect',
  'admin: organizations': 'Create and rename organizations, and see what needs attention',
  'admin: members': 'Who belongs to an organization, and in which role',
  'admin: agents': 'The agents of an organization, with their tools and sub-agents',
  'admin: runs': 'The runs of an organization, with their steps, and their replay',
  'admin: API keys': 'Keys with scopes and limits',
  'admin: users': 'Plans, credits and sign-ins; for the platform',
  'admin: audit': 'Events, charges, proofs, exports, past states and usage',
  'admin: feeds': 'Read models as streams of changes',
  'admin: projections': 'The state of the read models; for the platform',
  'admin: master key': 'Replace the key that wraps all keys; for the platform',
  console: 'Sign in to the console, and out; it then calls all of the above',
  health: 'Whether the server answers, and is ready',
}
