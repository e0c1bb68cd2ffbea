import { expect } from 'chai'
import { NotOperated, venueCommands } from '../../devnet/series/operate.js'
import { inheritedEnvironment } from '../support/config.js'
import { tempDir } from '../support/temp-dir.js'

describe('the commands of the feeder', () => {
  it('are begun no more once it stops', async () => {
    const dir = tempDir()
    const commands = venueCommands({
      dataDir: dir.path,
      env: { ...inheritedEnvironment(), DATA_DIR: dir.path },
    })
    commands.stop()
    const error: unknown = await commands.disable('M', 'over').catch((it: unknown) => it)
    dir.remove()
    expect(error).to.be.instanceOf(NotOperated)
    expect((error as Error).message).to.equal(
      './venue market disable M --reason over: the feeder stops',
    )
  })
})
