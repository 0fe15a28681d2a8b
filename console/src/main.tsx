import './styles/tokens.css'
import './styles/base.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isTransient } from './api/problem.ts'
import { router } from './router.tsx'
import { SessionGate } from './session/session-gate.tsx'
import { startTheme } from './shell/theme.ts'

const mostRetries = 2

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < mostRetries && isTransient(error),
    },
  },
})

/** After an update of the server, a page that is still open asks for assets that are gone. */
window.addEventListener('vite:preloadError', () => {
  const reloadedAt = Number(sessionStorage.getItem('reprise.reloaded') ?? 0)
  if (Date.now() - reloadedAt < 60_000) return
  sessionStorage.setItem('reprise.reloaded', `${Date.now()}`)
  window.location.reload()
})

startTheme()
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <SessionGate>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  </StrictMode>,
)
