import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { SignedLinks } from '../../security/signed-links.ts'

/** What proves a link. Where it is not whole, it proves nothing, as a wrong one. */
export const linkProof = z.object({
  expires: z.coerce.number().int().catch(0),
  signature: z.string().catch(''),
})

type Uses = {
  links: SignedLinks
  /** The base of links; undefined: the host of the request. */
  publicUrl: string | undefined
}

/** Signed links to files, by their ids, as the client of a request reaches them. */
export const fileLinks =
  ({ links, publicUrl }: Uses) =>
  ({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>) => {
    const base = publicUrl ?? `${protocol}://${host}`
    return (id: string): string => `${base}/files/${id}?${links.queryFor('file', id)}`
  }
export type FileLinks = ReturnType<typeof fileLinks>
