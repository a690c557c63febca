/** A QR code as a picture in the page. */
import { encode } from 'uqr';
import { type Html, html } from '../../../platform/http/pages/html.ts';

/** Empty modules around the code, without which readers do not find it on a dark page. */
const QUIET_ZONE = 4;

/** The text as a code, black on white in every theme. The label says what it is to those who cannot see it. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const path = data.flatMap((row, y) => {
    const modules = row.map((dark) => (dark ? '#' : ' ')).join('');
    return [...modules.matchAll(/#+/g)].map(
      ({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`,
    );
  });
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/>
<path fill="#000" d="${path}"/>
</svg>`;
}
