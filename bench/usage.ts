import { BENCHES } from './benches.js'

/** What `npm run bench -- --help` prints. */
export const USAGE = `usage: npm run bench -- [name ...] [--tiny | --full] [--hours N]
       npm run bench -- beside DIR NAME...
       npm run bench -- oracle FILE

  name     one of ${Object.keys(BENCHES).join(', ')}; all by default
  --full   includes the parts that take several minutes
  --tiny   only shows that the benches run; its figures have no meaning
  --hours  how long soak runs; without it three minutes, with --full an hour
  beside   runs the named benches in turn with those of another built tree, and prints the ratios
  oracle   runs the pure step over a workload file of the public matching-engine benchmark`
