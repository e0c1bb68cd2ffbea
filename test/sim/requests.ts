import type { HttpAnswer, HttpRequest } from './host.js'
import type { Network } from './network.js'
import type { SimulatedProcess } from './process.js'
import type { ExecutorFace } from './venue.js'

/** Requests over HTTP on the simulated network. */

/** A request to the node: it may be lost on the way there or back, or refused. */
export function askNode(
  { world, random, weather, wire, carry }: Network,
  { from, body }: HttpRequest,
  answer: (text: string) => string,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const refused = random.chance(weather.refusedCalls)
    const lost = random.chance(weather.lostCalls)
    const lostThere = random.chance(0.5)
    if (lost && lostThere) return
    carry(wire, undefined, () => {
      if (refused) {
        carry(from, undefined, () => reject(new TypeError('fetch failed')))
        return
      }
      const text = answer(body)
      if (!lost) carry(from, undefined, () => resolve({ status: 200, text }))
      else world.note('an answer of the node is lost')
    })
  })
}

/** A request to the executor, which may be down or go down before it answers. */
export function askExecutor(
  { carry, world }: Network,
  executor: SimulatedProcess<ExecutorFace>,
  { from, url, body, headers }: HttpRequest,
  onAnswer: (body: string, answer: HttpAnswer) => void,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const broken = (): void => carry(from, undefined, () => reject(new TypeError('fetch failed')))
    const process = executor.actor()
    const face = executor.face()
    if (process === undefined || face === undefined) return broken()
    let isOpen = true
    executor.onEnd(() => {
      if (isOpen) broken()
      isOpen = false
    })
    carry(process, undefined, () => {
      face(url, body, headers['idempotency-key'] ?? '').then(
        (answer) => {
          isOpen = false
          if (url.pathname === '/execute') onAnswer(body, answer)
          carry(from, undefined, () => resolve(answer))
        },
        (error: unknown) => process.onFailure(error),
      )
    })
    const { 'idempotency-key': key } = headers
    world.note(key === undefined ? `${url.pathname} asked` : `settlement ${key} asked`)
  })
}
