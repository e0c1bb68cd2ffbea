import { afterEach } from 'mocha'
import { undocumented } from './documented.js'

const gateways = new Set<string>()
const wrong: string[] = []
const plainFetch = globalThis.fetch

/** From now on whatever `fetch` gets from this gateway must be what the gateway's document says. */
export function checkAnswersOf(gatewayUrl: string): void {
  gateways.add(new URL(gatewayUrl).origin)
  globalThis.fetch = checkedFetch
}

async function checkedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await plainFetch(input, init)
  const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input)
  if (!gateways.has(origin)) return response
  const text = await response.clone().text()
  wrong.push(
    ...undocumented({
      method: init?.method ?? 'GET',
      path: pathname + search,
      sent: typeof init?.body === 'string' ? parsed(init.body) : undefined,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
    }),
  )
  return response
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Mocha's root hook. A client would take an error out of `fetch` for a lost connection and try again. */
afterEach(() => {
  const [first] = wrong.splice(0)
  if (first !== undefined) throw new Error(first)
})
