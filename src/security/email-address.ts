import { domainToASCII, domainToUnicode } from 'node:url'

/** An address as it is stored and shown: NFC, in lower case, without outer blanks. */
export const normalizedEmail = (email: string): string =>
  email.trim().normalize().toLowerCase().normalize()

/** What a person is called when nobody said: the part of the address before the @. */
export const defaultName = (address: string): string => address.slice(0, address.lastIndexOf('@'))

/** Only names of hosts are mapped: an URL's host may also be escaped, or a number. */
const hostName = /^[\p{L}\p{M}\p{N}.-]+$/u
const numberLast = /\.\d+$/

const partsOf = (address: string) => {
  const at = address.lastIndexOf('@')
  return { local: address.slice(0, at + 1), host: address.slice(at + 1) }
}

/** The host by UTS 46; as it is where it is no name of a host. */
const asciiHost = (host: string): string => {
  const ascii = hostName.test(host) ? domainToASCII(host) : ''
  return ascii === '' || numberLast.test(ascii) ? host : ascii
}

/**
 * An address as it is compared: NFC, in lower case, the host by UTS 46. Local parts are not folded
 * further, since that would merge mailboxes.
 */
export const comparedEmail = (email: string): string => {
  const { local, host } = partsOf(normalizedEmail(email))
  return local + asciiHost(host)
}

/**
 * Other spellings of an address that earlier releases told apart: they compared lower case only.
 * None for an address in ASCII, unless its host is encoded (xn--).
 */
export const earlierSpellings = (email: string): string[] => {
  const given = partsOf(email.trim().toLowerCase())
  const { local, host } = partsOf(comparedEmail(email))
  const unicodeHost = domainToUnicode(host) || host
  const locals = [given.local, local, local.normalize('NFD')]
  const hosts = [given.host, host, unicodeHost, unicodeHost.normalize('NFD')]
  const spellings = new Set(
    locals.flatMap((localPart) => hosts.map((hostPart) => localPart + hostPart)),
  )
  spellings.delete(local + host)
  return [...spellings]
}
