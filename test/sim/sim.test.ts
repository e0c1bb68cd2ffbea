import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const MAIN = fileURLToPath(new URL('main.js', import.meta.url))

/** Runs the simulator in a process of its own, whose clock and timers it replaces; resolves with what it said. */
function simulator(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['--no-warnings', MAIN, ...args])
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => parts.push(text))
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said: parts.join('') }))
  })
}

describe('simulator', function () {
  it('finds nothing in any of the first seeds, with all kinds of market at once', async () => {
    const { code, said } = await simulator('--seed', '1', '--seeds', '60', '--steps', '60')
    expect(code, said).to.equal(0)
    expect(said).to.include('60 seeds, 0 with findings')
    const fills = [...said.matchAll(/^\S+: (\d+) fills$/gm)].map(([, count]) => Number(count))
    expect(fills.length, said).to.equal(3)
    expect(Math.min(...fills), said).to.be.above(10)
  })

  it('finds nothing with one market of each kind alone', async () => {
    for (const kind of ['spot', 'perpetual', 'future']) {
      const seeds = ['--seed', '1', '--seeds', '5', '--steps', '60']
      const { code, said } = await simulator('--kind', kind, ...seeds)
      expect(code, said).to.equal(0)
      expect(said).to.include('5 seeds, 0 with findings')
    }
  })

  it('finds nothing any more in the seeds that once found something', async () => {
    const { code, said } = await simulator('--kept')
    expect(code, said).to.equal(0)
  })

  it('tells the same story twice for one seed', async () => {
    const { code, said } = await simulator(
      '--seed',
      '7000',
      '--seeds',
      '2',
      '--steps',
      '80',
      '--twice',
    )
    expect(code, said).to.equal(0)
  })
})
