import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Browsers that have light-dark() and nested rules in CSS. */
const target = ['chrome123', 'edge123', 'firefox120', 'safari17.5']

/** The console is in English: words of React Aria in other languages are left out. */
const otherLanguages =
  /[\\/]react-(aria|stately)[^/\\]*[\\/].*[\\/](?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/
const englishOnly: Plugin = {
  name: 'english-only',
  load: (id) => (otherLanguages.test(id) ? 'export default {}' : undefined),
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), englishOnly],
  build: {
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target,
    cssTarget: target,
    sourcemap: false,
  },
})
