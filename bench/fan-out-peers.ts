import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { decodePingAnswer } from '../bus-schemas/operations.js'
import { askPing } from '../bus-schemas/subjects.js'
import type { Bus } from '../runtime/bus/bus.js'
import type { Peer } from './measure-peer.js'
import { freePort } from '../devnet/launcher/free-port.js'

const LOOK_EVERY_MS = 50
/** Connection limit: more than any bench opens. */
const MANY = '10000'

/**
 * The Procfile's young generation of the fan-out; the peer has the same. Its options of the old generation change no figure
 * here.
 */
const YOUNG = '--max-semi-space-size=64'

/** Location of the feed for both. */
export interface FeedPlace {
  readonly bus: Bus
  readonly natsUrl: string
  readonly deploymentFile: string
}

/** A process that sends the book to subscribers until it is stopped. */
export interface RunningPeer extends Peer {
  end(): Promise<void>
}

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The venue's own fan-out. */
export async function startFanOut({
  bus,
  natsUrl,
  deploymentFile,
}: FeedPlace): Promise<RunningPeer> {
  const port = await freePort()
  const env = {
    WS_FANOUT_PORT: `${port}`,
    NATS_URL: natsUrl,
    DEPLOYMENT_FILE: deploymentFile,
    LOG_LEVEL: 'silent',
    WS_MAX_SOCKETS: MANY,
    WS_MAX_SOCKETS_PER_ADDRESS: MANY,
  }
  const child = spawn(process.execPath, [YOUNG, pathOf('../actors/ws-fanout/main.js')], {
    env,
    stdio: 'ignore',
  })
  const isReady = async (): Promise<boolean> => {
    const answer = await bus.ask(askPing('ws-fanout'), new Uint8Array(), 500).catch(() => undefined)
    return answer !== undefined && decodePingAnswer(answer).ready
  }
  while (!(await isReady())) await delay(LOOK_EVERY_MS)
  return running(child, port)
}

/** The naive peer, which encodes and sends each frame for each client separately, from a message of the feed on. */
export async function startNaive(place: FeedPlace, fromSeq: number): Promise<RunningPeer> {
  const port = await freePort()
  const args = [place.natsUrl, place.deploymentFile, `${port}`, `${fromSeq}`]
  const child = fork(pathOf('./naive-fan-out.js'), args, { execArgv: [YOUNG] })
  await once(child, 'message')
  return running(child, port)
}

/** The gateway's relay in front of this fan-out, in a process of its own. */
export async function startRelay(fanOut: Peer): Promise<RunningPeer> {
  const child = fork(pathOf('./relay-alone.js'), [`${fanOut.port}`], { execArgv: [YOUNG] })
  const [port] = (await once(child, 'message')) as [number]
  const relay = running(child, port)
  return { ...relay, pids: [...fanOut.pids, ...relay.pids] }
}

function running(child: ChildProcess, port: number): RunningPeer {
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  return {
    pids: [child.pid ?? 0],
    port,
    end: async () => {
      const exited = once(child, 'exit')
      kill()
      await exited
      process.removeListener('exit', kill)
    },
  }
}
