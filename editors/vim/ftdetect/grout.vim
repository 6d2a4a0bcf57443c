" Files of grout kernels.
autocmd BufNewFile,BufRead *.grout setfiletype grout
