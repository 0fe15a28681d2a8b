import { of } from 'rxjs'
import { z } from 'zod'
import type { Tool, ToolContext, ToolResult } from '../agents/tool.ts'
import { failure } from './results.ts'
import { definitionOf, policyOf } from './tool-policy.ts'

type Typed<Args> = {
  name: string
  description: string
  args: z.ZodType<Args>
  /** What a call does elsewhere, if anything. */
  effect?: 'read' | 'write'
  /** A call that is made again does nothing more. */
  keyed?: boolean
  run(args: Args, context: ToolContext): Promise<ToolResult>
}

/** A tool with a schema for its arguments; the result of a call that does not fit says why. */
export const typedTool = <Args>({
  name,
  description,
  args,
  effect = 'read',
  keyed = false,
  run,
}: Typed<Args>): Tool => {
  const { $schema: _, ...parameters } = z.toJSONSchema(args)
  const spec = { name, description, parameters }
  return {
    spec,
    policy: policyOf({}, { effect, keyed }),
    definition: definitionOf(spec),
    run(given, context) {
      const parsed = args.safeParse(given)
      if (parsed.success) return run(parsed.data, context)
      const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
      return of(failure(issues.join('; ')))
    },
  }
}
