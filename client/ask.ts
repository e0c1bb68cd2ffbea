/** The venue said no: nothing was changed. `code` is stable, the message is meant for people. */
export class VenueRefused extends Error {
  override readonly name = 'VenueRefused'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The whole answer, with whatever else it says. */
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(message)
  }
}

/** No answer, or one that says that the venue does not know: what was asked may or may not have happened. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** Parameters of a request; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** The address of a path of the venue with its query. */
export function urlOf(baseUrl: string, path: string, query: Query = {}): string {
  const url = new URL(path, baseUrl)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value.toString())
  }
  return url.href
}

/** How a request with this body is put. */
export const jsonBody = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/**
 * The body of a good answer. Throws OutcomeUnknown for none, and for a status that leaves it open whether anything
 * happened, which each failure of the venue's does unless told; throws VenueRefused for the rest.
 */
export async function ask<T>(
  url: string,
  init: RequestInit,
  leavesOpen = (status: number): boolean => status >= 500,
): Promise<T> {
  const { status, body } = await exchange(url, init)
  if (status >= 200 && status < 300) return body as T
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const error = typeof fields.error === 'string' ? fields.error : `status ${status}`
  if (leavesOpen(status)) throw new OutcomeUnknown(error)
  const message = typeof fields.message === 'string' ? fields.message : error
  const code = typeof fields.code === 'string' ? fields.code : error
  throw new VenueRefused(status, code, message, fields)
}

async function exchange(
  url: string,
  init: RequestInit,
): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, init)
    return { status: response.status, body: await response.json() }
  } catch (cause) {
    throw new OutcomeUnknown(`no answer from ${new URL(url).pathname}`, { cause })
  }
}
