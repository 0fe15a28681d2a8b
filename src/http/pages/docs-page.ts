import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

const sign =
  '<path d="M6 6v20M11 6v20" stroke="#5eead4" stroke-width="3"/><circle cx="17" cy="12" r="2.5" fill="#5eead4"/><circle cx="17" cy="20" r="2.5" fill="#5eead4"/>'

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#134e4a"/>${sign}</svg>`

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 32" role="img"><title>Reprise</title>${sign}<text x="28" y="24" font-family="system-ui,sans-serif" font-size="22" font-weight="600" fill="#fff">Reprise</text></svg>`

/** There is one document: nothing to choose. */
const style = `
.swagger-ui .topbar{background:#134e4a;padding:.5rem 0}
.swagger-ui .topbar .download-url-wrapper{display:none}
`

/** How `/docs` looks. */
export const docsPage: Pick<FastifySwaggerUiOptions, 'logo' | 'theme' | 'uiConfig'> = {
  logo: { type: 'image/svg+xml', content: Buffer.from(logo), href: '/docs', target: '_self' },
  theme: {
    title: 'Reprise: API reference',
    favicon: [
      {
        filename: 'favicon.svg',
        rel: 'icon',
        type: 'image/svg+xml',
        sizes: 'any',
        content: icon,
      },
    ],
    css: [{ filename: 'reprise.css', content: style }],
  },
  uiConfig: { docExpansion: 'list', tryItOutEnabled: true, defaultModelsExpandDepth: -1 },
}
