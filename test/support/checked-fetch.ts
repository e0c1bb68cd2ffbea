import { after, afterEach } from 'mocha'
import { undocumented } from './documented.js'

const gateways = new Set<string>()
const wrong: string[] = []
const told: string[] = []
const plainFetch = globalThis.fetch
/** A program that was started by hand has no parent to report to. */
const underMocha = 'describe' in globalThis

/** From now on whatever `fetch` gets from this gateway in a test must be what the gateway's document says. */
export function checkAnswersOf(gatewayUrl: string): void {
  if (!underMocha) return
  gateways.add(new URL(gatewayUrl).origin)
  globalThis.fetch = checkedFetch
}

/** The gateway has stopped: its port may be another server's next. */
export function leaveAnswersOf(gatewayUrl: string): void {
  gateways.delete(new URL(gatewayUrl).origin)
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

/**
 * Mocha's root hooks. A client would take an error out of `fetch` for a lost connection and try again, and a failing
 * afterEach would end the whole run; so what is wrong is told at the end, under the test that saw it.
 */
if (underMocha) {
  afterEach(function () {
    const title = this.currentTest?.fullTitle() ?? 'a hook'
    told.push(...wrong.splice(0).map((what) => `${title}: ${what}`))
  })
  after(() => {
    if (told.length > 0) throw new Error(`answers that are not documented:\n${told.join('\n')}`)
  })
}
