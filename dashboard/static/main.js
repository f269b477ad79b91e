// Starts what a page has use for.
import { asks } from "./ask.js";
import { finds } from "./find.js";
import { follow } from "./live.js";
import { later } from "./part.js";
import { drawn } from "./map.js";
import { nearest } from "./nearest.js";

drawn();
later(nearest);
asks();
finds();
follow();
