import { z } from 'zod'

/** Which pages of browsers may use the venue. Clients without an `Origin` header are servers: nothing here refuses them. */

const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .transform((origins) => origins.filter((origin) => origin !== ''))

/** The settings, by the names of the environment. */
export const originsEnv = z.object({
  /** Comma-separated origins of pages that may connect and read; `*` is all of them, nothing is none of them. */
  ALLOWED_ORIGINS: list,
  /** The earlier name of the same. */
  WS_ALLOWED_ORIGINS: list,
  /** Where browsers find this venue: its own page is one that may. */
  PUBLIC_URL: z
    .url()
    .transform((url) => new URL(url).origin)
    .optional(),
})

/** Whether a page of this origin may use the venue. Never told by the Host header, which any page may choose. */
export type IsAllowed = (origin: string) => boolean

/** The settings as one question. */
export function allowedOrigins(settings: z.infer<typeof originsEnv>): IsAllowed {
  const { ALLOWED_ORIGINS, WS_ALLOWED_ORIGINS, PUBLIC_URL } = settings
  const origins = new Set([...ALLOWED_ORIGINS, ...WS_ALLOWED_ORIGINS])
  if (PUBLIC_URL !== undefined) origins.add(PUBLIC_URL)
  return (origin) => origins.has('*') || origins.has(origin)
}
