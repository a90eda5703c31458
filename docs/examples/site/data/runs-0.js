unixmark.runs([["005507dabb11c860","vm","vm","2026-11-21","1e6d0aab","AMD EPYC, 2 CPUs, Debian GNU/Linux 12 (bookworm)",[],[]]]);
