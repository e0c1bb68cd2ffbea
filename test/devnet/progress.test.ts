import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startChild } from '../../devnet/launcher/child.js'
import { groupCpuMs, watchProgress, type LaunchProgress } from '../../devnet/launcher/progress.js'
import { untilReady, type Patience } from '../../devnet/launcher/until-ready.js'
import { waitFor } from '../../devnet/launcher/wait-for.js'
import { eventually } from '../support/eventually.js'

/** Processor time of groups, as a test says. */
function clocked() {
  const cpuMs = new Map<number, number>()
  return { cpuMs, progress: watchProgress(() => cpuMs) }
}

describe('the progress of a process', () => {
  it('is what it has not said before, apart from numbers', () => {
    const { progress } = clocked()
    progress.started('a', 1)
    expect(progress.hasMoved(['a'])).to.equal(false)
    progress.said('a', 'attempt 1 failed')
    expect(progress.hasMoved(['a'])).to.equal(true)
    progress.said('a', 'attempt 22 failed')
    expect(progress.hasMoved(['a'])).to.equal(false)
    expect(progress.lastWords('a')).to.equal('attempt 22 failed')
    progress.said('a', 'reading the log')
    expect(progress.hasMoved(['b'])).to.equal(false)
    expect(progress.hasMoved(['b', 'a'])).to.equal(true)
  })

  it('does not come from ever new lines', () => {
    const { progress } = clocked()
    const counts = Array.from({ length: 300 }, (_, n) => {
      progress.said('a', 'x'.repeat(n))
      return progress.hasMoved(['a'])
    })
    expect(counts.lastIndexOf(true)).to.equal(199)
  })

  it('is two seconds of processor time, unless it ends again and again', () => {
    const { cpuMs, progress } = clocked()
    const movesBy = (ms: number) => {
      cpuMs.set(1, (cpuMs.get(1) ?? 0) + ms)
      return progress.hasMoved(['a'])
    }
    progress.started('a', 1)
    expect([1_500, 400, 200, 1_900].map(movesBy)).to.deep.equal([false, false, true, false])
    progress.ended('a')
    expect(movesBy(9_000)).to.equal(false)
    progress.started('a', 1)
    expect(movesBy(9_000)).to.equal(true)
    for (let n = 0; n < 2; n += 1) {
      progress.ended('a')
      progress.started('a', 1)
    }
    expect(movesBy(9_000)).to.equal(false)
  })

  it('is read from the system for a whole process group', async () => {
    const script = '(while :; do :; done) & (while :; do :; done) & wait'
    const args = ['-c', script]
    const child = await startChild({
      command: '/bin/sh',
      args,
      cwd: '/',
      env: {},
      onLine: () => {},
    })
    try {
      await eventually(() => (groupCpuMs().get(child.pid) ?? 0) >= 100)
    } finally {
      await child.stop(100)
    }
  })
})

describe('a wait of the launcher', () => {
  it('goes on while there is progress, and ends when there is none', async () => {
    let moves = 3
    const waiting = waitFor(
      'something',
      20,
      () => Promise.resolve(undefined),
      () => (moves -= 1) >= 0,
    )
    expect(await waiting.catch(String)).to.include('waited 20 ms for something')
    expect(moves).to.equal(-1)
  })
})

describe('the wait for a venue that starts', () => {
  const servers: Server[] = []
  after(() => servers.forEach((server) => server.close()))
  const patience: Patience = { startMs: 700, marketsMs: 300, silentWorkMs: 60_000 }

  /** A gateway that gives these answers in order, the last one for ever; undefined is ready. */
  async function gateway(...answers: (Record<string, string> | undefined)[]) {
    let at = 0
    const server = createServer((_, response) => {
      const missing = answers[Math.min(at, answers.length - 1)]
      at += 1
      response.statusCode = missing === undefined ? 200 : 503
      response.end(JSON.stringify({ missing }))
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      asked: () => at,
    }
  }

  async function wait(url: string, progress: LaunchProgress) {
    const said: string[] = []
    const processes = ['gateway', 'matchers', 'executor', 'projector', 'order-intake']
    await untilReady({
      gatewayUrl: url,
      processes,
      progress,
      patience,
      say: (line) => said.push(line),
    })
    return said
  }

  it('is as long as a process that is missing works', async () => {
    const slow = Array.from({ length: 8 }, () => ({ executor: 'reads its journal' }))
    const { url, asked } = await gateway(...slow, undefined)
    const { cpuMs, progress } = clocked()
    progress.started('executor', 1)
    const working = setInterval(() => cpuMs.set(1, (cpuMs.get(1) ?? 0) + 2_500), 50)
    await wait(url, progress).finally(() => clearInterval(working))
    expect(asked()).to.equal(9)
  })

  it('ends when none of them moves, with what is missing and what it said', async () => {
    const { url } = await gateway({ executor: 'no answer', bus: 'not connected' })
    const { cpuMs, progress } = clocked()
    progress.started('projector', 1)
    progress.said('nats-server', '[1] [ERR] cid:5 - Authentication Timeout')
    progress.said('executor', '{"level":"warn","msg":"no connection to the bus: TIMEOUT"}')
    // One that is not waited for.
    const working = setInterval(() => cpuMs.set(1, (cpuMs.get(1) ?? 0) + 2_500), 50)
    const outcome = await wait(url, progress)
      .catch(String)
      .finally(() => clearInterval(working))
    expect(outcome).to.include('no process has made progress for 0.7 s')
    expect(outcome).to.include('executor: no answer; bus: not connected')
    expect(outcome).to.include('executor said last: WARN no connection to the bus: TIMEOUT')
    expect(outcome).to.include('nats-server said last: [1] [ERR] cid:5 - Authentication Timeout')
  })

  it('ends for markets alone without them', async () => {
    const { url } = await gateway({ 'order-intake': 'starts' }, { 'matcher-M': 'held' })
    expect(await wait(url, clocked().progress)).to.deep.equal(['  not ready: matcher-M: held'])
  })

  it('is for all processes while the gateway does not answer', async () => {
    const { progress } = clocked()
    const talking = setInterval(() => progress.said('matchers', 'x'.repeat(performance.now())), 50)
    setTimeout(() => clearInterval(talking), 1_500)
    const begun = performance.now()
    const outcome = await wait('http://127.0.0.1:1', progress).catch(String)
    expect(outcome).to.include('gateway: no answer yet')
    expect(performance.now() - begun).to.be.greaterThan(2_000)
  })
})
