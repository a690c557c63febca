/**
 * So many users sign in at once, again and again, until the script is ended. Usage: node bench/sign-ins.ts
 * URL PASSWORD PEOPLE.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const [url = '', password = '', people = '1'] = process.argv.slice(2);
let done = 0;

async function signIn(): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/users/sign_in`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'root', password }),
    });
    await response.arrayBuffer();
    if (response.status !== 302) throw new Error(`sign-in: ${response.status}`);
    done += 1;
  }
}

for (let person = 0; person < Number(people); person++) void signIn();
while (done < Number(people)) await sleep(10);
console.log('everybody has signed in once');
