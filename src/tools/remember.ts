import { z } from 'zod'
import type { RememberCommand } from '../../commands/remember.ts'
import type { Tool } from '../agents/tool.ts'
import { actingUser } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { failure, success } from './results.ts'
import { typedTool } from './typed-tool.ts'

type Uses = { remember: RememberCommand; clock: Clock }

/** Stores a fact about the turn's user in the turn's organization. */
export const rememberTool = ({ remember, clock }: Uses): Tool =>
  typedTool({
    name: 'remember',
    effect: 'write',
    keyed: true,
    description:
      'Keeps a fact or preference of the user for later conversations. One fact a call, as a sentence that is understood on its own.',
    args: z.object({ text: z.string().trim().min(1).max(2_000) }),
    async run({ text }, { turn: { call } }) {
      const userId = actingUser(call)
      if (userId === null) return failure('there is no user to remember it for')
      const now = { ...call, at: clock.now().toISOString() }
      const memory = { userId, text, turnBeganAt: call.at }
      const { stored, isErased } = await remember(memory, now)
      if (isErased) return failure('the memories of the user were erased during this turn')
      return success(stored ? 'Remembered.' : 'This was remembered before.')
    },
  })
