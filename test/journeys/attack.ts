/** An attacker in a process of its own. Usage: node test/journeys/attack.ts NAME TARGET-AS-JSON; ends with its standard input. */
import { type AttackedSite, type AttackerName, attack } from './attackers.ts';

const [name, target = '{}'] = process.argv.slice(2);
const ending = new AbortController();
process.stdin.on('end', () => ending.abort()).resume();
process.stdout.write('begun\n');
// Its caller names one of the list, and makes the target.
const attacked = await attack(name as AttackerName, JSON.parse(target) as AttackedSite, ending.signal);
process.stdout.write(`${JSON.stringify(attacked)}\n`, () => process.exit());
