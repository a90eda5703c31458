unixmark.runs([["c5ab6be576d7e1c7","c5ab6be576d7e1c7","a machine without a name","2018-06-25","d1bf7f01","4 CPUs",[],[]]]);
