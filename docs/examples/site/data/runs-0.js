unixmark.runs([["0b57cc93eefff6776053af438f743548","0b57cc93eefff6776053af438f743548","Cloud server of 2018, 4 CPUs","2018-06-25","1dbecfc0e13e2bd97c9e982980ebd8fd","4 CPUs",[0,0],["imported"]]]);
