import { Metadata, ServerCredentials, status } from '@grpc/grpc-js'

/** A server's certificate and its key, and the passwords of its users. */
export type Secured = { key: string; cert: string; users: Record<string, string> }

export type Access = {
  credentials: ServerCredentials
  /** What a call with this metadata is refused with, if it is. */
  refusalOf(metadata: Metadata): object | undefined
}

export const insecure: Access = {
  credentials: ServerCredentials.createInsecure(),
  refusalOf: () => undefined,
}

const denied = () => {
  const metadata = new Metadata()
  metadata.set('exception', 'access-denied')
  return { code: status.PERMISSION_DENIED, details: 'Access Denied', metadata }
}

const unauthenticated = { code: status.UNAUTHENTICATED, details: 'UNAUTHENTICATED' }

export const securedBy = ({ key, cert, users }: Secured): Access => {
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) }
  return {
    credentials: ServerCredentials.createSsl(null, [pair]),
    refusalOf: (metadata) => {
      const [header] = metadata.get('authorization')
      if (header === undefined) return denied()
      const encoded = String(header).replace('Basic ', '')
      const [name = '', password] = Buffer.from(encoded, 'base64').toString().split(':')
      return users[name] === password ? undefined : unauthenticated
    },
  }
}
