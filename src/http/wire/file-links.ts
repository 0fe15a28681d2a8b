import type { FastifyRequest } from 'fastify'
import type { SignedLinks } from '../../security/signed-links.ts'

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
