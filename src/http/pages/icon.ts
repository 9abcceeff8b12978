/** The icon of the sandbox. Our pages contain it inline, so that a browser sends no request for it. */
export const ICON =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='8' fill='#0e2a35'/>" +
  "<path d='M9 11h11l-3-3m6 13H12l3 3' fill='none' stroke='#ffd45e' stroke-width='3' stroke-linecap='round' " +
  "stroke-linejoin='round'/></svg>"
