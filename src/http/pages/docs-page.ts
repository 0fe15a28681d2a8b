import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

const sign =
  '<path d="M6 6v20M11 6v20" stroke="#5eead4" stroke-width="3"/><circle cx="17" cy="12" r="2.5" fill="#5eead4"/><circle cx="17" cy="20" r="2.5" fill="#5eead4"/>'

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#134e4a"/>${sign}</svg>`

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 32" role="img"><title>Reprise</title>${sign}<text x="28" y="24" font-family="system-ui,sans-serif" font-size="22" font-weight="600" fill="#fff">Reprise</text></svg>`

/** There is one document: nothing to choose. */
const style = `
html .swagger-ui .topbar,html.dark-mode .swagger-ui .topbar{background:#134e4a;padding:.5rem 0}
.swagger-ui .topbar .download-url-wrapper{display:none}
.swagger-ui .topbar .topbar-wrapper{flex-flow:row nowrap;align-items:center;justify-content:space-between}
.swagger-ui .topbar .topbar-wrapper .link{width:auto}
@media(max-width:40rem){
.swagger-ui .opblock .opblock-summary-control{flex-wrap:wrap}
.swagger-ui .opblock .opblock-summary-path-description-wrapper{flex-basis:60%}
.swagger-ui .info hgroup.main{margin-bottom:1rem}
.swagger-ui .response-col_links{display:none}
}
`

/** Adds the missing viewport: a phone would show the page at a desktop's width. */
const script = `
const viewport = document.createElement('meta')
viewport.name = 'viewport'
viewport.content = 'width=device-width, initial-scale=1'
document.head.append(viewport)
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
    js: [{ filename: 'reprise.js', content: script }],
  },
  uiConfig: { docExpansion: 'list', tryItOutEnabled: true, defaultModelsExpandDepth: -1 },
}
