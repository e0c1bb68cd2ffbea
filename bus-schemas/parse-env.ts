import type { z } from 'zod'

/** A process was started with settings it cannot run with; the message names each of them. */
export class BadConfiguration extends Error {
  override readonly name = 'BadConfiguration'
}

/**
 * Reads a process's settings from its environment, once: checked, completed by defaults and frozen. An empty value
 * counts as absent, as in `.env.example`. Throws BadConfiguration that names every bad setting, never its value.
 */
export function parseEnv<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<Schema>> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return Object.freeze(parsed.data)
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new BadConfiguration(`bad settings in the environment: ${faults.join('; ')}`)
}
