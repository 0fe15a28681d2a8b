import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { messageOf } from '../api/problem.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/fields.tsx'
import { Logo } from '../shell/logo.tsx'
import { leaveForOpenId, sessionQuery, signIn, signInOptionsQuery } from './session.ts'
import styles from './sign-in.module.css'

/** Asks for an API key. It is sent once and not stored in the browser. */
export const SignIn = ({ hasEnded }: { hasEnded: boolean }) => {
  const client = useQueryClient()
  const [apiKey, setApiKey] = useState('')
  const { mutate, error, isPending } = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => client.setQueryData(sessionQuery.queryKey, session),
  })
  const { data: options } = useQuery(signInOptionsQuery)
  useEffect(() => {
    document.title = 'Sign in · Reprise'
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const key = apiKey.trim()
    if (key && !isPending) mutate(key)
  }
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <div className={styles.brand}>
          <Logo />
          Reprise
        </div>
        <h1>Sign in</h1>
        {hasEnded && !error && (
          <p className={styles.notice} role="status">
            Your session has ended. Sign in again to continue where you were.
          </p>
        )}
        <form className={styles.form} onSubmit={submit}>
          {/* The name under which password managers store the key. */}
          <input
            type="text"
            name="username"
            autoComplete="username"
            value="API key"
            readOnly
            hidden
          />
          <TextField
            label="API key"
            name="api_key"
            type="password"
            autoComplete="current-password"
            value={apiKey}
            onChange={setApiKey}
            description="Of your organization, or your own. The console does what the key may do."
            error={error ? messageOf(error) : undefined}
            autoFocus
          />
          <Button type="submit" kind="primary" isDisabled={isPending}>
            {isPending ? 'Signing in…' : 'Sign in'}
          </Button>
        </form>
        {options?.openid && (
          <>
            <p className={styles.or}>or</p>
            <Button onPress={leaveForOpenId}>Sign in with your identity provider</Button>
          </>
        )}
      </div>
      <p className={styles.help}>
        The first start of the server prints a key of the demo organization. The API reference is at{' '}
        <a href="/docs">/docs</a>.
      </p>
    </main>
  )
}
