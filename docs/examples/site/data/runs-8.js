unixmark.runs([["87735356f7afe903","vm","vm","2026-11-21","df8e362c","AMD EPYC, 2 CPUs, Debian GNU/Linux 12 (bookworm)",[],[]]]);
