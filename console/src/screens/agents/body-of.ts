import type { paths } from '../../api/client.ts'

/** The JSON body of a request. */
export type BodyOf<
  Path extends keyof paths,
  Method extends keyof paths[Path],
> = paths[Path][Method] extends {
  requestBody: { content: { 'application/json': infer Body } }
}
  ? Body
  : never
