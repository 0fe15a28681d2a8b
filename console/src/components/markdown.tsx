import { lexer, type Token, type Tokens } from 'marked'
import { Fragment, memo, type ReactNode } from 'react'
import styles from './markdown.module.css'
import { ScrollRegion } from './scroll-region.tsx'

/** Longer texts are shown as they are. */
const longest = 64_000
const deepest = 24

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}

const plain = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity)

const webAddress = (href: string): URL | undefined => {
  if (!URL.canParse(href)) return undefined
  const url = new URL(href)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/** Only pictures of this server are loaded, so that a text cannot call another one. */
const isOurFile = ({ origin, pathname }: URL): boolean =>
  origin === window.location.origin && pathname.startsWith('/files/')

const Anchor = ({ href, children }: { href: string; children: ReactNode }) => {
  const url = webAddress(href)
  if (!url) return children
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

const Picture = ({ href, text }: { href: string; text: string }) => {
  const url = webAddress(href)
  if (url && isOurFile(url)) return <img src={url.href} alt={plain(text)} />
  return <Anchor href={href}>{plain(text) || href}</Anchor>
}

const List = ({ token, depth }: { token: Tokens.List; depth: number }) => {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other keys
    <li key={index}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      <TokenList tokens={item.tokens} depth={depth + 1} />
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

const Table = ({ token, depth }: { token: Tokens.Table; depth: number }) => {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map((cell, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other keys
      <Cell key={index}>
        <TokenList tokens={cell.tokens} depth={depth + 1} />
      </Cell>
    ))
  return (
    <ScrollRegion label="Table">
      <table>
        <thead>
          <tr>{cells(token.header, 'th')}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other keys
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

const TokenView = ({ token, depth }: { token: Token; depth: number }): ReactNode => {
  const inside = () =>
    'tokens' in token && token.tokens ? (
      <TokenList tokens={token.tokens} depth={depth + 1} />
    ) : (
      plain('text' in token ? String(token.text) : token.raw)
    )
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return <p dir="auto">{inside()}</p>
    case 'heading':
      return <p className={styles.heading}>{inside()}</p>
    case 'blockquote':
      return <blockquote>{inside()}</blockquote>
    case 'list':
      return <List token={token as Tokens.List} depth={depth} />
    case 'table':
      return <Table token={token as Tokens.Table} depth={depth} />
    case 'code':
      return (
        <ScrollRegion label="Code" className={styles.code}>
          <pre>
            <code>{token.text}</code>
          </pre>
        </ScrollRegion>
      )
    case 'codespan':
      return <code>{token.text}</code>
    case 'strong':
      return <strong>{inside()}</strong>
    case 'em':
      return <em>{inside()}</em>
    case 'del':
      return <del>{inside()}</del>
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'link':
      return <Anchor href={token.href}>{inside()}</Anchor>
    case 'image':
      return <Picture href={token.href} text={token.text} />
    case 'text':
    case 'escape':
      return inside()
    default:
      return token.raw
  }
}

const TokenList = ({ tokens, depth }: { tokens: Token[]; depth: number }): ReactNode =>
  depth > deepest
    ? tokens.map(({ raw }) => raw).join('')
    : tokens.map((token, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other keys
        <Fragment key={index}>
          <TokenView token={token} depth={depth} />
        </Fragment>
      ))

const tokensOf = (text: string): Token[] | undefined => {
  if (text.length > longest) return undefined
  try {
    return lexer(text, { gfm: true, breaks: true })
  } catch {
    return undefined
  }
}

/**
 * A text of a model or a user as Markdown. HTML in it is shown as text, links lead only to http and
 * https, and pictures come only from this server.
 */
export const Markdown = memo(({ text }: { text: string }) => {
  const tokens = tokensOf(text)
  return (
    <div className={styles.markdown} dir="auto">
      {tokens ? <TokenList tokens={tokens} depth={0} /> : <p className={styles.plain}>{text}</p>}
    </div>
  )
})
