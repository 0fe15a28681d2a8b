import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Browsers that have light-dark() and nested rules in CSS. */
const target = ['chrome123', 'edge123', 'firefox120', 'safari17.5']

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target,
    cssTarget: target,
    sourcemap: false,
  },
})
